import { describeIssues } from '@recordbus/shared/describe-issues';
import { validationFailed } from '@recordbus/shared/errors';
import { startSlice } from '@recordbus/shared/time-slice';
import type { z } from 'zod';
import {
  type CollectionFile,
  collectionFile,
  type MigrationFile,
  migrationFile,
  type SchemaDocument,
  type WebhookFile,
  webhookFile,
} from './schema-document.ts';

/** The files of a schema, after the check of their shapes. */
export interface SchemaFiles {
  readonly collections: readonly CollectionFile[];
  /** Undefined when webhooks are not managed by files. */
  readonly webhooks: readonly WebhookFile[] | undefined;
  /** Undefined when settings are not managed by files. */
  readonly settings: Readonly<Record<string, unknown>> | undefined;
  readonly migrations: readonly MigrationFile[];
}

/** The check stops after this many problems. */
const enoughProblems = 1000;

/** Checks the files of a document one by one, in slices of time. Throws 422 that names what is wrong. */
export async function readDocument(document: SchemaDocument): Promise<SchemaFiles> {
  const problems = new Map<string, string>();
  const slice = startSlice();
  const read = async <T extends z.ZodType>(kind: string, schema: T, given: readonly unknown[]) => {
    const files: z.output<T>[] = [];
    for (const [position, item] of given.entries()) {
      if (slice.isOver()) await slice.pause();
      const result = schema.safeParse(item);
      if (result.success) files.push(result.data);
      else
        for (const [path, message] of Object.entries(describeIssues(result.error, item)))
          problems.set(`${kind}.${nameOf(item) ?? position}${path === 'body' ? '' : `.${path}`}`, message);
      if (problems.size >= enoughProblems) break;
    }
    return files;
  };
  const files: SchemaFiles = {
    collections: await read('collections', collectionFile, document.collections),
    webhooks: document.webhooks && (await read('webhooks', webhookFile, document.webhooks)),
    settings: document.settings,
    migrations: await read('migrations', migrationFile, document.migrations),
  };
  if (problems.size > 0) throw validationFailed(Object.fromEntries(problems));
  return files;
}

/** The name in a file, if it can be part of the place of a problem. */
function nameOf(item: unknown): string | undefined {
  const name = typeof item === 'object' && item !== null && 'name' in item ? item.name : undefined;
  return typeof name === 'string' && name !== '' && name.length <= 255 ? name : undefined;
}
