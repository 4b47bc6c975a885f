import { Visitor, type ESTree } from 'rolldown/utils';

export interface ModuleImport {
  readonly specifier: string;
  readonly isTypeOnly: boolean;
}

/** Every module a program names: import, export … from, import() and import types. */
export function findImports(program: ESTree.Program): ModuleImport[] {
  const imports: ModuleImport[] = [];
  const add = (specifier: string, isTypeOnly: boolean) => imports.push({ specifier, isTypeOnly });
  new Visitor({
    ImportDeclaration(node) {
      add(node.source.value, node.importKind === 'type' || hasOnlyTypeNames(node.specifiers));
    },
    ExportNamedDeclaration(node) {
      if (node.source) add(node.source.value, node.exportKind === 'type');
    },
    ExportAllDeclaration(node) {
      add(node.source.value, node.exportKind === 'type');
    },
    ImportExpression(node) {
      const specifier = constantText(node.source);
      if (specifier !== null) add(specifier, false);
    },
    TSImportType(node) {
      add(node.source.value, true);
    },
  }).visit(program);
  return imports;
}

function hasOnlyTypeNames(specifiers: readonly ESTree.ImportDeclarationSpecifier[]): boolean {
  return (
    specifiers.length > 0 &&
    specifiers.every((each) => each.type === 'ImportSpecifier' && each.importKind === 'type')
  );
}

function constantText(node: ESTree.Expression): string | null {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type !== 'TemplateLiteral' || node.expressions.length > 0) return null;
  return node.quasis[0]?.value.cooked ?? null;
}
