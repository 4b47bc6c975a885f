type Given<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

/** The fields without those that nobody said. */
export function given<Fields extends object>(fields: Fields): Given<Fields> {
  const said: Given<Fields> = { ...fields };
  for (const key in said) if (said[key] === undefined) delete said[key];
  return said;
}
