import { isInside, resolveFrom, resolveTarget } from '../base/paths.ts';
import { expandHome } from './rules/home-path.ts';

/** The directories that the agent may read in, and with approval write: workspace roots and added ones. */
export class AllowedDirectories {
  readonly #sessionDirectory: string;
  readonly #home: string | null;
  readonly #roots: readonly string[];
  readonly #added: Set<string>;

  constructor(
    sessionDirectory: string,
    home: string | null,
    roots: readonly string[],
    directories: readonly string[],
  ) {
    this.#sessionDirectory = sessionDirectory;
    this.#home = home;
    this.#roots = roots;
    this.#added = new Set(directories.map((directory) => this.resolve(directory)));
  }

  /** Links are resolved; a relative path is relative to `cwd`. */
  contains(file: string, cwd: string): boolean {
    const absolutePath = this.#toAbsolute(file, cwd);
    if (absolutePath === null || absolutePath.includes('\0')) return false;
    const target = resolveTarget(absolutePath);
    if (!target.isCertain) return false;
    return [...this.#roots, ...this.#added].some((directory) =>
      isInside(resolveTarget(directory).path, target.path),
    );
  }

  directories(): readonly string[] {
    return [...this.#added];
  }

  /** Resolves a relative directory against the directory that the session started in. */
  resolve(directory: string): string {
    return this.#toAbsolute(directory, this.#sessionDirectory) ?? directory;
  }

  add(directory: string): void {
    this.#added.add(this.resolve(directory));
  }

  remove(directory: string): void {
    this.#added.delete(this.resolve(directory));
  }

  #toAbsolute(file: string, cwd: string): string | null {
    const expanded = expandHome(file, this.#home);
    // `~user` is the home of another user, and `~` is unknown without a home directory.
    return expanded.startsWith('~') ? null : resolveFrom(cwd, expanded);
  }
}
