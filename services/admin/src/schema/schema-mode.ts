import { variable } from '@recordbus/process/config';
import { z } from 'zod';

/** How the schema may change: by every route, or by schema files only (schema §6). */
export const schemaMode = variable(
  'SERVICE_SCHEMA',
  'readonly: collections change only by schema apply.',
  z.enum(['open', 'readonly'], 'must be open or readonly').default('open'),
);
