/**
 * What is used of jsonc-parser. The build writes it into this file: the package's own entry point requires
 * its parts in a way that a bundler of `hookline/hooks` could not follow.
 */
export {
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  type JSONPath,
  type Node,
  type ParseError,
  type ParseErrorCode,
  parseTree,
  printParseErrorCode,
  visit,
} from 'jsonc-parser';
