import { Visitor, type ESTree } from 'rolldown/utils';

export interface EnvironmentUse {
  readonly what: string;
  readonly offset: number;
}

const PROCESS_MEMBERS = new Set(['env', 'cwd', 'exit']);

/** Finds where a program reads the environment, the working directory or the time, or exits. */
export function findEnvironmentUses(program: ESTree.Program): EnvironmentUse[] {
  const uses: EnvironmentUse[] = [];
  new Visitor({
    MemberExpression(node) {
      const what = forbiddenMember(node);
      if (what !== null) uses.push({ what, offset: node.start });
    },
    NewExpression(node) {
      const readsTime = isNamed(node.callee, 'Date') && node.arguments.length === 0;
      if (readsTime) uses.push({ what: 'new Date()', offset: node.start });
    },
    ImportDeclaration(node) {
      if (!/^(node:)?process$/.test(node.source.value)) return;
      for (const specifier of node.specifiers) {
        const name = specifier.type === 'ImportSpecifier' ? nameOf(specifier.imported) : null;
        if (name !== null && PROCESS_MEMBERS.has(name)) {
          uses.push({ what: `process.${name}`, offset: specifier.start });
        }
      }
    },
    VariableDeclarator(node) {
      if (node.id.type !== 'ObjectPattern' || !isProcess(node.init)) return;
      for (const property of node.id.properties) {
        const name = property.type === 'Property' ? nameOf(property.key) : null;
        if (name !== null && PROCESS_MEMBERS.has(name)) {
          uses.push({ what: `process.${name}`, offset: property.start });
        }
      }
    },
  }).visit(program);
  return uses;
}

function forbiddenMember(node: ESTree.MemberExpression): string | null {
  const name = nameOf(node.property);
  if (name === null) return null;
  if (isProcess(node.object) && PROCESS_MEMBERS.has(name)) return `process.${name}`;
  return isNamed(node.object, 'Date') && name === 'now' ? 'Date.now' : null;
}

function isProcess(node: ESTree.Node | null): boolean {
  if (node === null) return false;
  if (isNamed(node, 'process')) return true;
  return node.type === 'MemberExpression' && nameOf(node.property) === 'process';
}

function isNamed(node: ESTree.Node, name: string): boolean {
  return node.type === 'Identifier' && node.name === name;
}

function nameOf(node: ESTree.Node): string | null {
  if (node.type === 'Identifier') return node.name;
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : null;
}
