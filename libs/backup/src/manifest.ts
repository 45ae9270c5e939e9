import { z } from 'zod';

/** Names, or name prefixes, for an archive's entries. */
export const manifestEntry = 'backup.json';
export const schemaEntry = 'schema.json';
export const dataFolder = 'data/';
export const sequencesEntry = 'sequences.json';
export const filesFolder = 'files/';
export const secretEntry = 'jwt_secret';
export const keyEntry = 'encryption_key';
/** The last entry: an archive without it is truncated. */
export const checksumsEntry = 'checksums.json';

/** Increased when older versions cannot read the archive. */
export const archiveFormat = 1;

/** The first entry: what the archive contains and the versions it needs. */
export const manifest = z.object({
  format: z.number(),
  created_at: z.string(),
  postgres: z.string(),
  migrations: z.array(z.string()),
  /** `included`, or `elsewhere` when they are in an S3-compatible store. */
  files: z.enum(['included', 'elsewhere']),
  secret: z.boolean(),
  /** Whether the key file is included. Archives that are older than key files lack this member. */
  encryption_key: z.boolean().default(false),
  /** The stream's sequence number up to which all deliveries were created; null when the bus did not answer. */
  handed_out_up_to: z.number().nullable(),
});

export type Manifest = z.output<typeof manifest>;

/** A table and its stored columns, in value order. */
const storedTable = z.object({ name: z.string(), columns: z.array(z.string()) });

/** The second entry: statements to run before and after the tables are loaded. */
export const schemaDocument = z.object({
  before: z.array(z.string()),
  tables: z.array(storedTable),
  after: z.array(z.string()),
});

export type SchemaDocument = z.output<typeof schemaDocument>;

/** The sequences' state after all rows were read. */
export const sequencesDocument = z.array(
  z.object({ table: z.string(), column: z.string(), last: z.string(), is_called: z.boolean() }),
);
