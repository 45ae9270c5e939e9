import { createProblems } from '@recordbus/schema';
import type { z } from 'zod';
import { readItems } from '../schema/read-items.ts';
import {
  type CollectionFile,
  collectionFile,
  type MigrationFile,
  migrationFile,
  type SchemaDocument,
  type WebhookFile,
  webhookFile,
} from './schema-document.ts';

/** A schema's files, after their shapes were checked. */
export interface SchemaFiles {
  readonly collections: readonly CollectionFile[];
  /** Undefined when webhooks are not managed by files. */
  readonly webhooks: readonly WebhookFile[] | undefined;
  /** Undefined when settings are not managed by files. */
  readonly settings: Readonly<Record<string, unknown>> | undefined;
  readonly migrations: readonly MigrationFile[];
}

/** Checks a document's files. Throws 422 that names what is wrong. */
export async function readDocument(document: SchemaDocument): Promise<SchemaFiles> {
  const problems = createProblems();
  const read = <T extends z.ZodType>(kind: string, schema: T, given: readonly unknown[]) =>
    readItems(schema, { given, placeOf: (item, position) => `${kind}.${nameOf(item) ?? position}`, problems });
  const files: SchemaFiles = {
    collections: await read('collections', collectionFile, document.collections),
    webhooks: document.webhooks && (await read('webhooks', webhookFile, document.webhooks)),
    settings: document.settings,
    migrations: await read('migrations', migrationFile, document.migrations),
  };
  problems.throwIfAny();
  return files;
}

/** The name in a file, if it can be part of a problem's place. */
function nameOf(item: unknown): string | undefined {
  const name = typeof item === 'object' && item !== null && 'name' in item ? item.name : undefined;
  return typeof name === 'string' && name !== '' && name.length <= 255 ? name : undefined;
}
