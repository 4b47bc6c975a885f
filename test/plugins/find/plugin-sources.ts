import path from 'node:path';

/** The text of a plugin that brings nothing. */
export const PLUGIN =
  'export default { name: "any", manifest: { capabilities: ["tools"] }, setup() {} }\n';

export function at(root: string, name: string): string {
  return path.join(root, ...name.split('/'));
}

/** A package.json with these entries. */
export function packageJson(plugins: unknown, more: object = {}): string {
  return JSON.stringify({ name: 'pkg', version: '1.2.3', ...more, cline: { plugins } });
}
