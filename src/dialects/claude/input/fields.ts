/** Part of a payload; undefined fields are not written. */
export type Fields = Readonly<Record<string, unknown>>;

/** What the fields of an event depend on besides the event. */
export interface FieldContext {
  readonly home: string | null;
  readonly transcriptPath: string;
}
