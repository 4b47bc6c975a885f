/** Part of a payload; what is undefined in it is left out. */
export type Fields = Readonly<Record<string, unknown>>;

/** What the fields of an event need beyond the event. */
export interface FieldContext {
  readonly home: string | null;
  readonly transcriptPath: string;
}
