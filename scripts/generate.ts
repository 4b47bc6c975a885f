import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { generateReference } from './generate-reference.ts';
import { generateSchemas } from './generate-schemas.ts';
import { generateTypes } from './generate-types.ts';

// Writes every generated file below the directory that is named, by default this project.
const root = path.resolve(process.argv[2] ?? '.');
const files = [...generateSchemas(), ...generateTypes(), ...generateReference()];
for (const file of files) write(file.path, file.text);
removeStaleSchemas();
process.stdout.write(`generated ${files.length} files\n`);

function write(file: string, text: string): void {
  const place = path.join(root, file);
  mkdirSync(path.dirname(place), { recursive: true });
  writeFileSync(place, text);
}

function removeStaleSchemas(): void {
  const generated = new Set(files.map((file) => file.path));
  for (const name of readdirSync(path.join(root, 'schema'))) {
    const file = `schema/${name}`;
    if (name.endsWith('.schema.json') && !generated.has(file)) rmSync(path.join(root, file));
  }
}
