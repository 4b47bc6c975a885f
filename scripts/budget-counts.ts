import { Visitor, type ESTree } from 'rolldown/utils';

interface Span {
  readonly start: number;
  readonly end: number;
}

/** What the budgets count in one file; numbers are offsets into its text. */
export interface BudgetCounts {
  readonly functions: readonly Span[];
  readonly casts: readonly number[];
  readonly anys: readonly number[];
  readonly enums: readonly number[];
  readonly emptyCatches: readonly number[];
  readonly bareThrows: readonly number[];
  /** Whether the file does nothing but export again what others export. */
  readonly isBarrel: boolean;
}

const BARE_ERRORS = new Set(['Error', 'TypeError', 'RangeError', 'SyntaxError']);

export function countForBudgets(program: ESTree.Program): BudgetCounts {
  const functions: Span[] = [];
  const casts: number[] = [];
  const anys: number[] = [];
  const enums: number[] = [];
  const emptyCatches: number[] = [];
  const bareThrows: number[] = [];
  new Visitor({
    FunctionDeclaration: (node) => functions.push(node),
    MethodDefinition: (node) => functions.push(node),
    FunctionExpression: (node) => functions.push(node),
    ArrowFunctionExpression: (node) => functions.push(node),
    TSAsExpression: (node) => !isConstAssertion(node) && casts.push(node.start),
    TSTypeAssertion: (node) => casts.push(node.start),
    TSAnyKeyword: (node) => anys.push(node.start),
    TSEnumDeclaration: (node) => enums.push(node.start),
    CatchClause: (node) => node.body.body.length === 0 && emptyCatches.push(node.start),
    ThrowStatement: (node) => isBareError(node.argument) && bareThrows.push(node.start),
  }).visit(program);
  return {
    functions: outermost(functions),
    casts,
    anys,
    enums,
    emptyCatches,
    bareThrows,
    isBarrel: program.body.length > 0 && program.body.every(isReExport),
  };
}

// A method and its function, or an arrow and the arrow it returns, end together: one counts.
function outermost(functions: readonly Span[]): Span[] {
  return functions.filter(
    (each, index) => functions.findIndex((other) => other.end === each.end) === index,
  );
}

function isConstAssertion(node: ESTree.TSAsExpression): boolean {
  const type = node.typeAnnotation;
  return (
    type.type === 'TSTypeReference' &&
    type.typeName.type === 'Identifier' &&
    type.typeName.name === 'const'
  );
}

function isBareError(node: ESTree.Expression): boolean {
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return false;
  return node.callee.type === 'Identifier' && BARE_ERRORS.has(node.callee.name);
}

function isReExport(statement: ESTree.Statement | ESTree.Directive): boolean {
  if (statement.type === 'ExportAllDeclaration') return true;
  return statement.type === 'ExportNamedDeclaration' && statement.source !== null;
}
