/** JSON Schema as an author writes it down; what is not known here is allowed and says nothing. */
export interface WrittenSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: { readonly [name: string]: WrittenSchema | boolean };
  readonly required?: readonly string[];
  readonly items?: WrittenSchema | boolean | readonly WrittenSchema[];
  readonly anyOf?: readonly WrittenSchema[];
  readonly oneOf?: readonly WrittenSchema[];
  readonly additionalProperties?: WrittenSchema | boolean;
  readonly [keyword: string]: unknown;
}

/** The value that a schema describes; `unknown` where it cannot be told from its text. */
export type FromJsonSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly anyOf: readonly (infer Branch)[] }
      ? FromJsonSchema<Branch>
      : Schema extends { readonly oneOf: readonly (infer Branch)[] }
        ? FromJsonSchema<Branch>
        : Schema extends { readonly type: readonly (infer Name)[] }
          ? FromType<Schema, Name>
          : Schema extends { readonly type: infer Name }
            ? FromType<Schema, Name>
            : Schema extends { readonly properties: object }
              ? FromObject<Schema>
              : unknown;

type FromType<Schema, Name> = Name extends 'string'
  ? string
  : Name extends 'number' | 'integer'
    ? number
    : Name extends 'boolean'
      ? boolean
      : Name extends 'null'
        ? null
        : Name extends 'array'
          ? FromArray<Schema>
          : Name extends 'object'
            ? FromObject<Schema>
            : unknown;

type FromArray<Schema> = Schema extends { readonly items: readonly unknown[] }
  ? unknown[]
  : Schema extends { readonly items: infer Item }
    ? FromJsonSchema<Item>[]
    : unknown[];

type FromObject<Schema> = Schema extends { readonly properties: infer Properties }
  ? Plain<
      {
        -readonly [Key in keyof Properties & RequiredIn<Schema>]: FromJsonSchema<Properties[Key]>;
      } & {
        -readonly [Key in Exclude<keyof Properties, RequiredIn<Schema>>]?: FromJsonSchema<
          Properties[Key]
        >;
      }
    >
  : Schema extends { readonly additionalProperties: infer Value extends object }
    ? Record<string, FromJsonSchema<Value>>
    : Record<string, unknown>;

type RequiredIn<Schema> = Schema extends { readonly required: readonly (infer Key)[] }
  ? Key
  : never;

/** One object type instead of two that are joined, as people like to read it. */
type Plain<Fields> = { [Key in keyof Fields]: Fields[Key] };
