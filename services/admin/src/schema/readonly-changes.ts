import { conflict } from '@recordbus/errors';
import type { SchemaChanges } from './schema-changes.ts';

/** Changes to a readonly schema: each is 409 (schema §6). */
export const readonlyChanges: SchemaChanges = {
  make: async () => {
    throw conflict(
      'schema_readonly',
      'the schema is readonly: change its files and apply them, or set SERVICE_SCHEMA to open',
    );
  },
};
