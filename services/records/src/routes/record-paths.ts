import { z } from 'zod';

/** The three paths of one resource (records §1.1). */
const prefixes = ['/api', '/api/v1', '/api/v1/records'] as const;

/** The records of a collection. */
export const collectionPaths = prefixes.map((prefix) => `${prefix}/:collection`);

/** One record. */
export const recordPaths = prefixes.map((prefix) => `${prefix}/:collection/:id`);

export const collectionParams = z.object({ collection: z.string() });

export const recordParams = z.object({ collection: z.string(), id: z.string() });
