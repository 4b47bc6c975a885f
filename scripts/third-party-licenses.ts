import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The licences of all packages that own one of these files, as one text. */
export function describeLicenses(moduleFiles: readonly string[]): string {
  const packages = new Set(moduleFiles.flatMap(findPackage));
  const sections = [...packages].toSorted().map(describePackage);
  return ['The files in this folder contain these packages.', ...sections].join('\n\n');
}

function findPackage(file: string): string[] {
  const match = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/])/.exec(file);
  return match ? [match[0]] : [];
}

function describePackage(folder: string): string {
  const manifest: { name: string; version: string; license?: string } = JSON.parse(
    readFileSync(path.join(folder, 'package.json'), 'utf8'),
  );
  const title = `${manifest.name} ${manifest.version} (${manifest.license ?? 'no licence named'})`;
  return [title, '='.repeat(title.length), readLicense(folder)].join('\n');
}

function readLicense(folder: string): string {
  const name = readdirSync(folder).find((each) => /^licen[cs]e(\.(md|txt))?$/i.test(each));
  if (name === undefined) return 'The package carries no licence text of its own.\n';
  return readFileSync(path.join(folder, name), 'utf8').trimEnd().concat('\n');
}
