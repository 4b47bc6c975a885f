import { Visitor, type ESTree } from 'rolldown/utils';
import { lineAt, type SourceFile } from '../source-files.ts';

type FunctionNode = ESTree.Function | ESTree.ArrowFunctionExpression;

/** A function that has a name: declared, a method, or assigned to a variable or property. */
export interface NamedFunction {
  /** `src/hooks/engine.ts#dispatch:81` */
  readonly id: string;
  /** The names in the annotation of each parameter, and of the result. */
  readonly parameterTypes: readonly (readonly string[])[];
  readonly resultTypes: readonly string[];
  readonly node: FunctionNode;
}

export function findNamedFunctions(source: SourceFile): NamedFunction[] {
  const found = new Map<number, NamedFunction>();
  const add = (node: ESTree.Node | null, name: string): void => {
    if (node === null || !isFunction(node) || found.has(node.start)) return;
    found.set(node.start, {
      id: `${source.path}#${name}:${lineAt(source, node.start)}`,
      parameterTypes: node.params.map((parameter) =>
        readTypeNames(source, getAnnotation(parameter)),
      ),
      resultTypes: readTypeNames(source, node.returnType),
      node,
    });
  };
  new Visitor({
    FunctionDeclaration: (node) => add(node, node.id?.name ?? 'default'),
    VariableDeclarator: ({ id, init }) => add(init, readKey(id)),
    Property: ({ kind, key, value }) => {
      if (kind === 'init') add(value, readKey(key));
    },
    PropertyDefinition: ({ key, value }) => add(value, readKey(key)),
    MethodDefinition: ({ kind, key, value }) => {
      if (kind === 'method') add(value, readKey(key));
    },
  }).visit(source.program);
  return [...found.values()];
}

/**
 * The text of a file in which every named function runs inside of `__trace(id, body, parameters)`.
 * Callbacks without a name belong to the function around them. Generators are left as they are.
 */
export function instrument(source: SourceFile): string {
  const edits = findNamedFunctions(source).flatMap(({ id, node }) => {
    if (node.body === null || node.generator || usesArguments(source, node)) return [];
    const open = `__trace(${JSON.stringify(id)}, ${node.async ? 'async ' : ''}() => `;
    const parameters = node.params.map((each) => `[${readBoundNames(each).join(', ')}]`);
    const close = `, [${parameters.join(', ')}])`;
    const { start, end, type } = node.body;
    return type === 'BlockStatement'
      ? [
          { at: start + 1, text: `return ${open}{` },
          { at: end - 1, text: `\n}${close};` },
        ]
      : [
          { at: start, text: `${open}(` },
          { at: end, text: `)${close}` },
        ];
  });
  let text = source.text;
  // From the end to the beginning, so that the offsets before an edit stay true.
  for (const edit of edits.toReversed().toSorted((a, b) => b.at - a.at)) {
    text = text.slice(0, edit.at) + edit.text + text.slice(edit.at);
  }
  return text;
}

function isFunction(node: ESTree.Node): node is FunctionNode {
  return (
    node.type === 'FunctionDeclaration' ||
    node.type === 'FunctionExpression' ||
    node.type === 'ArrowFunctionExpression'
  );
}

function usesArguments(source: SourceFile, { start, end }: FunctionNode): boolean {
  return /\barguments\b/u.test(source.text.slice(start, end));
}

function readKey(key: ESTree.Node): string {
  if (key.type === 'PrivateIdentifier') return `#${key.name}`;
  if (key.type === 'Identifier') return key.name;
  return key.type === 'Literal' ? String(key.value) : 'computed';
}

function getAnnotation(parameter: ESTree.ParamPattern): ESTree.TSTypeAnnotation | null | undefined {
  if (parameter.type === 'TSParameterProperty') return getAnnotation(parameter.parameter);
  return parameter.type === 'AssignmentPattern'
    ? parameter.left.typeAnnotation
    : parameter.typeAnnotation;
}

function readTypeNames(
  source: SourceFile,
  annotation: ESTree.TSTypeAnnotation | null | undefined,
): string[] {
  if (annotation === null || annotation === undefined) return [];
  return source.text.slice(annotation.start, annotation.end).match(/\b[A-Z]\w*/gu) ?? [];
}

function readBoundNames(
  pattern: ESTree.ParamPattern | ESTree.BindingPattern | ESTree.BindingRestElement | null,
): string[] {
  if (pattern === null) return [];
  switch (pattern.type) {
    case 'Identifier':
      return pattern.name === 'this' ? [] : [pattern.name];
    case 'AssignmentPattern':
      return readBoundNames(pattern.left);
    case 'RestElement':
      return readBoundNames(pattern.argument);
    case 'TSParameterProperty':
      return readBoundNames(pattern.parameter);
    case 'ArrayPattern':
      return pattern.elements.flatMap(readBoundNames);
    case 'ObjectPattern':
      return pattern.properties.flatMap((each) =>
        readBoundNames(each.type === 'Property' ? each.value : each),
      );
  }
}
