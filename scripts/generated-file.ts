export interface GeneratedFile {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
}
