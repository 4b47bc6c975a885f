import type {
  CompiledQuery,
  DatabaseConnection,
  Kysely,
  Migration,
  QueryResult,
  RawBuilder,
} from 'kysely';
import { requirePackage } from '../base/built-files.ts';
import { getErrorMessage, HooklineError, invariant } from '../base/errors.ts';
import type { SqlDatabase, SqlValue } from './driver.ts';

const { sql, ...kysely } = requirePackage('kysely');

/** One for each version of the schema; its number is stored as `user_version`. Never changed once released. */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '001-events': {
    async up(database: Kysely<unknown>) {
      await database.schema
        .createTable('events')
        .addColumn('sequence', 'integer', (column) => column.primaryKey())
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('at', 'integer', (column) => column.notNull())
        .addColumn('received_at', 'integer', (column) => column.notNull())
        .addColumn('agent', 'text', (column) => column.notNull())
        .addColumn('event', 'text')
        .addColumn('foreign_event', 'text')
        .addColumn('session_id', 'text')
        .addColumn('workspace', 'text')
        .addColumn('tool', 'text')
        .addColumn('paths', 'text', (column) => column.notNull())
        .addColumn('effect', 'text')
        .addColumn('hooks', 'text', (column) => column.notNull())
        .addColumn('has_failed', 'integer', (column) => column.notNull())
        .addColumn('is_verified', 'integer', (column) => column.notNull())
        .addColumn('origin', 'text', (column) => column.notNull())
        .addColumn('hash', 'blob', (column) => column.notNull())
        // Last, so that a search that needs no payload need not read what lies on overflow pages.
        .addColumn('payload', 'blob', (column) => column.notNull())
        .execute();
      // The row number, which is the sequence, follows the columns of every index.
      await createIndex(database, 'events_by_session', 'session_id');
      await createIndex(database, 'events_by_agent', 'agent');
      await createIndex(database, 'events_by_time', 'at');
      // Only our own dispatches have these, so that they cost other events nothing.
      await createPartialIndex(database, 'events_by_effect', sql`effect IS NOT NULL`);
      await createPartialIndex(database, 'events_with_hooks', sql`hooks <> '[]'`);
      await createPartialIndex(database, 'events_that_failed', sql`has_failed = 1`);
      await createChainTables(database);
    },
  },
};

async function createIndex(database: Kysely<unknown>, name: string, column: string) {
  await database.schema.createIndex(name).on('events').column(column).execute();
}

async function createPartialIndex(
  database: Kysely<unknown>,
  name: string,
  condition: RawBuilder<unknown>,
) {
  await sql`CREATE INDEX ${sql.ref(name)} ON events (effect) WHERE ${condition}`.execute(database);
}

async function createChainTables(database: Kysely<unknown>): Promise<void> {
  // One row: the newest entry of the chain, also after its event was removed.
  await database.schema
    .createTable('head')
    .addColumn('one', 'integer', (column) => column.primaryKey().check(sql`one = 1`))
    .addColumn('sequence', 'integer', (column) => column.notNull())
    .addColumn('hash', 'blob', (column) => column.notNull())
    .execute();
  // Runs of events that were removed, with the hashes before and at the end of each.
  await database.schema
    .createTable('checkpoints')
    .addColumn('first', 'integer', (column) => column.primaryKey())
    .addColumn('last', 'integer', (column) => column.notNull())
    .addColumn('hash_before', 'blob', (column) => column.notNull())
    .addColumn('hash', 'blob', (column) => column.notNull())
    .addColumn('at', 'integer', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .execute();
}

/** Brings the schema up to date. The caller holds the write lock, so no other process does the same. */
export async function migrateSchema(database: SqlDatabase): Promise<void> {
  const db = new kysely.Kysely<unknown>({
    dialect: {
      createAdapter: () => new kysely.SqliteAdapter(),
      createDriver: () => createDriver(database),
      createIntrospector: (own) => new kysely.SqliteIntrospector(own),
      createQueryCompiler: () => new kysely.SqliteQueryCompiler(),
    },
  });
  const migrator = new kysely.Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...MIGRATIONS }) },
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) {
    throw new HooklineError('STORE_UNUSABLE', {
      message: `the tables of the event store cannot be created: ${getErrorMessage(error)}`,
      cause: error,
    });
  }
  database.exec(`PRAGMA user_version = ${Object.keys(MIGRATIONS).length}`);
}

/** Only what the migrator uses: it runs inside of the caller's transaction. */
function createDriver(database: SqlDatabase) {
  const connection: DatabaseConnection = {
    executeQuery<Row>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      const rows = database.prepare(text).all(...(parameters as readonly SqlValue[]));
      return Promise.resolve({ rows: rows as Row[] });
    },
    streamQuery: () => {
      invariant(false, 'migrations do not stream');
    },
  };
  const nothing = (): Promise<void> => Promise.resolve();
  return {
    init: nothing,
    acquireConnection: () => Promise.resolve(connection),
    beginTransaction: nothing,
    commitTransaction: nothing,
    rollbackTransaction: nothing,
    releaseConnection: nothing,
    destroy: nothing,
  };
}
