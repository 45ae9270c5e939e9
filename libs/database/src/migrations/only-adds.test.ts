import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { createEmptyDatabase, skipWithoutDatabase } from '../temporary-database.ts';
import { breaksBetween, readCatalog } from './compatibility.testing.ts';
import { ownMigrations, schemaName } from './migrations.ts';

/** Version 0.1 was never released, so its migrations up to this one might remove what they liked. */
const lastBeforeRule = '0103-still-encrypted';

/** A migration that removes something says so in its name. */
const isRemoval = (name: string): boolean => /-needs-\d{4}$/.test(name);

test('migrations only add, so that the previous version runs on the tables', {
  skip: skipWithoutDatabase,
}, async () => {
  await using client = await databaseAt(schemaName);
  for (const name of ownMigrations.names.slice(1)) {
    const before = await readCatalog(client);
    await client.query(ownMigrations.read(name));
    if (name <= lastBeforeRule || isRemoval(name)) continue;
    assert.deepEqual(breaksBetween(before, await readCatalog(client)), [], `${name}: see CONTRIBUTING.md`);
  }
});

test('a removal names the migration that its last user has', () => {
  for (const name of ownMigrations.names.filter(isRemoval))
    assert.ok(
      ownMigrations.names.some((other) => other < name && other.startsWith(name.slice(-4))),
      `${name} needs a migration that is not before it`,
    );
});

test('a migration that breaks the previous version is found', { skip: skipWithoutDatabase }, async () => {
  await using client = await databaseAt(schemaName);
  const breaks: readonly [statements: string, sentences: readonly string[]][] = [
    ['alter table system.instance add column later text', []],
    ["alter table system.instance add column named text not null default ''", []],
    [
      'create table system.later (id text primary key, n int not null check (n > 0)); create index on system.later (n)',
      [],
    ],
    ['alter table system.instance add column small int check (small > 0)', []],
    ['alter table system.instance alter column value drop not null', []],
    [
      'drop table system.later',
      [
        'table system.later is gone',
        'column system.later.id is gone',
        'column system.later.n is gone',
        'unique index of system.later (id) is gone',
      ],
    ],
    ['alter table system.instance rename column later to latest', ['column system.instance.later is gone']],
    [
      'alter table system.instance alter column latest type bigint using 0',
      ['column system.instance.latest was text, and is bigint'],
    ],
    [
      'alter table system.instance add column must text not null',
      ['column system.instance.must is new, and text, which every insert must set'],
    ],
    [
      'alter table system.instance alter column named drop default',
      ['column system.instance.named was text, and is text, which every insert must set'],
    ],
    [
      'alter table system.instance add check (key <> value)',
      ['rule of system.instance: CHECK ((key <> value)) is new, and may refuse rows of the version before'],
    ],
    [
      'create unique index on system.instance (value)',
      ['unique index of system.instance (value) is new, and may refuse rows of the version before'],
    ],
    ['alter table system.instance drop constraint instance_pkey', ['unique index of system.instance (key) is gone']],
  ];
  for (const [statements, sentences] of breaks) {
    const before = await readCatalog(client);
    await client.query(statements);
    assert.deepEqual(breaksBetween(before, await readCatalog(client)), sentences, statements);
  }
});

/** Connects to a new database with the tables that a migration makes; it is dropped at the end. */
async function databaseAt(name: string): Promise<pg.Client & AsyncDisposable> {
  const temporary = await createEmptyDatabase(process.env.TEST_DATABASE_URL ?? '');
  const client = new pg.Client({ connectionString: temporary.url });
  await client.connect();
  await client.query('create schema system');
  await client.query(ownMigrations.read(name));
  return Object.assign(client, {
    async [Symbol.asyncDispose]() {
      await client.end();
      await temporary.drop();
    },
  });
}
