import { createHash } from 'node:crypto';
import type { ValueCipher } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { startSlice } from '@recordbus/limits/time-slice';
import { type Collection, loadCollections } from '@recordbus/schema';
import { type ChangedSettings, readChangedSettings } from '@recordbus/settings';
import type { Webhook } from '../webhooks/webhook-schema.ts';
import { listAllWebhooks } from '../webhooks/webhook-store.ts';
import { type AppliedMigration, listMigrationFiles, listMigrations } from './migrations-table.ts';
import { type PresentedSchema, presentCollections, presentSettings, presentWebhooks } from './present-files.ts';

/** A stack's current schema. */
export interface CurrentSchema {
  readonly collections: readonly Collection[];
  readonly webhooks: readonly Webhook[];
  readonly settings: ChangedSettings;
  readonly migrations: readonly AppliedMigration[];
}

/** Reads the stack's current schema. */
export async function readCurrentSchema(query: Query, cipher: ValueCipher): Promise<CurrentSchema> {
  const { collections } = await loadCollections(query);
  return {
    collections,
    webhooks: await listAllWebhooks(query),
    settings: await readChangedSettings(query, cipher),
    migrations: await listMigrations(query),
  };
}

/** Returns the current schema's files. */
export async function readPresentedSchema(query: Query, cipher: ValueCipher): Promise<PresentedSchema> {
  const { collections, webhooks, settings } = await readCurrentSchema(query, cipher);
  return {
    version: 1,
    collections: await presentCollections(collections),
    webhooks: presentWebhooks(webhooks),
    settings: presentSettings(settings),
    migrations: await listMigrationFiles(query),
  };
}

/** Returns a schema's hash, with which an apply detects changes since the plan. It depends on no secret. */
export async function hashOf({ collections, webhooks, settings, migrations }: CurrentSchema): Promise<string> {
  const hash = createHash('sha256');
  const slice = startSlice();
  for (const files of [await presentCollections(collections), presentWebhooks(webhooks), migrations])
    for (const file of files) {
      if (slice.isOver()) await slice.pause();
      hash.update(JSON.stringify(file)).update('\n');
    }
  return `sha256:${hash.update(JSON.stringify(presentSettings(settings))).digest('hex')}`;
}
