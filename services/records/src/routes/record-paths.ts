import { z } from 'zod';

/** One resource's three paths (records §1.1). */
const prefixes = ['/api', '/api/v1', '/api/v1/records'] as const;

/** A collection's records. */
export const collectionPaths = prefixes.map((prefix) => `${prefix}/:collection`);

/** One record. */
export const recordPaths = prefixes.map((prefix) => `${prefix}/:collection/:id`);

export const collectionParams = z.object({ collection: z.string() });

export const recordParams = z.object({ collection: z.string(), id: z.string() });
