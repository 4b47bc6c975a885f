import { createRequire } from 'node:module';
import { getErrorMessage, HooklineError, tryOrNull } from '../base/errors.ts';
import { importOptional } from '../base/optional-packages.ts';

/** The one interface over the two SQLite bindings: `node:sqlite` where Node.js has it, else `libsql`. */
export interface SqlDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  close(): void;
}

export interface SqlStatement {
  /** Returns how many rows it changed. */
  run(...values: readonly SqlValue[]): number;
  all(...values: readonly SqlValue[]): readonly SqlRow[];
}

export type SqlValue = string | number | null | Uint8Array;
export type SqlRow = Readonly<Record<string, unknown>>;

/** Opens a database file. */
export async function openDatabase(file: string): Promise<SqlDatabase> {
  const builtIn = loadWithoutWarning();
  return builtIn === null ? openLibsql(file) : openBuiltIn(new builtIn.DatabaseSync(file));
}

interface BuiltInDatabase {
  exec(sql: string): void;
  prepare(sql: string): {
    run(...values: readonly SqlValue[]): { readonly changes: number | bigint };
    all(...values: readonly SqlValue[]): SqlRow[];
  };
  close(): void;
}

function openBuiltIn(database: BuiltInDatabase): SqlDatabase {
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        run: (...values) => Number(statement.run(...values).changes),
        all: (...values) => statement.all(...values),
      };
    },
    close: () => database.close(),
  };
}

interface LibsqlDatabase {
  exec(sql: string): void;
  prepare(sql: string): {
    run(values: readonly SqlValue[]): { readonly changes: number };
    all(values: readonly SqlValue[]): SqlRow[];
  };
  close(): void;
}

/**
 * Its `get` is not used, because that adds a field `_metadata` to the row. Values are passed in a list: it
 * takes a single value that is an object for named ones, and ends the process when it is none.
 */
async function openLibsql(file: string): Promise<SqlDatabase> {
  const Database = await importOptional('the event store', async () => requireBinding('libsql'));
  const database = new Database(file);
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        run: (...values) => statement.run(values).changes,
        all: (...values) => statement.all(values),
      };
    },
    close: () => database.close(),
  };
}

const require: (name: string) => unknown = createRequire(import.meta.url);

function requireBinding(name: 'libsql'): new (file: string) => LibsqlDatabase;
function requireBinding(name: 'node:sqlite'): BuiltInModule;
function requireBinding(name: string): unknown {
  return require(name);
}

interface BuiltInModule {
  readonly DatabaseSync: new (file: string) => BuiltInDatabase;
}

/** Node.js 22 and 24 print a warning when this module is loaded, which is of no use to our users. */
function loadWithoutWarning(): BuiltInModule | null {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return tryOrNull(() => requireBinding('node:sqlite'));
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Runs the work in a transaction that holds the write lock from the start, so that what it read stays true. */
export function runTransaction<Result>(database: SqlDatabase, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite has rolled back by itself after some errors, a full disk among them.
    tryOrNull(() => database.exec('ROLLBACK'));
    throw error;
  }
}

/** Why a statement failed, as far as we act on it. */
export type SqlFault = 'busy' | 'corrupt' | 'full' | 'unwritable' | 'other';

const FAULTS: Readonly<Record<number, SqlFault>> = {
  5: 'busy',
  6: 'busy',
  8: 'unwritable',
  10: 'unwritable',
  11: 'corrupt',
  13: 'full',
  14: 'unwritable',
  26: 'corrupt',
};

const FAULT_NAMES: readonly (readonly [RegExp, SqlFault])[] = [
  [/^SQLITE_(?:BUSY|LOCKED)|database (?:table )?is locked/, 'busy'],
  [/^SQLITE_(?:CORRUPT|NOTADB)|malformed|not a database/, 'corrupt'],
  [/^SQLITE_FULL|disk is full/, 'full'],
  [/^SQLITE_(?:READONLY|IOERR|CANTOPEN)|unable to open|readonly|disk I\/O/, 'unwritable'],
];

/** Reads the result code, which each binding puts elsewhere; libsql has it only in the message of some errors. */
export function classifyError(error: unknown): SqlFault {
  if (typeof error !== 'object' || error === null) return 'other';
  if (error instanceof HooklineError) return classifyError(error.cause);
  const code: unknown = 'errcode' in error ? error.errcode : 'rawCode' in error && error.rawCode;
  if (typeof code === 'number' && code !== 0) {
    const fault = FAULTS[code % 256];
    if (fault !== undefined) return fault;
  }
  const name = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const message = getErrorMessage(error);
  return (
    FAULT_NAMES.find(([pattern]) => pattern.test(name) || pattern.test(message))?.[1] ?? 'other'
  );
}
