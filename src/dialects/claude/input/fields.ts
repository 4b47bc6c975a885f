/** Part of a payload; what is undefined in it is left out. */
export type Fields = Readonly<Record<string, unknown>>;

/** What the fields of an event need beyond the event. */
export interface FieldContext {
  readonly home: string | null;
  readonly transcriptPath: string;
}

type Given<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

/** The fields without those that nobody said. */
export function omitUndefined<Fields extends object>(fields: Fields): Given<Fields> {
  const said: Given<Fields> = { ...fields };
  for (const key in said) if (said[key] === undefined) delete said[key];
  return said;
}
