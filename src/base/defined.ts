/** The same fields, those that may be undefined as optional ones. */
type Defined<Fields extends object> = {
  [Key in keyof Fields as undefined extends Fields[Key] ? never : Key]: Fields[Key];
} & {
  [Key in keyof Fields as undefined extends Fields[Key] ? Key : never]?: Exclude<
    Fields[Key],
    undefined
  >;
};

/** A copy without the fields that are undefined: with exactOptionalPropertyTypes they must be absent. */
export function dropUndefined<Fields extends object>(fields: Fields): Defined<Fields>;
export function dropUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
