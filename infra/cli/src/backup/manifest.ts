import { z } from 'zod';

/** What the names of the entries of an archive begin with or are. */
export const manifestEntry = 'backup.json';
export const schemaEntry = 'schema.json';
export const dataFolder = 'data/';
export const sequencesEntry = 'sequences.json';
export const filesFolder = 'files/';
export const secretEntry = 'jwt_secret';
/** The last one: an archive without it was cut off. */
export const checksumsEntry = 'checksums.json';

/** Grows when an archive can't be read as before. */
export const archiveFormat = 1;

/** The first entry: what the archive holds, and what it needs. */
export const manifest = z.object({
  format: z.number(),
  created_at: z.string(),
  postgres: z.string(),
  migrations: z.array(z.string()),
  /** `included`, or `elsewhere` where they are in an S3-compatible store. */
  files: z.enum(['included', 'elsewhere']),
  secret: z.boolean(),
  /** The stream's number up to which all events had their deliveries; null when the bus could not be asked. */
  handed_out_up_to: z.number().nullable(),
});

export type Manifest = z.output<typeof manifest>;

/** A table and those of its columns that are stored, in the order in which their values are written. */
const storedTable = z.object({ name: z.string(), columns: z.array(z.string()) });

/** The second entry: how the tables are made, and what is made when they are full. */
export const schemaDocument = z.object({
  before: z.array(z.string()),
  tables: z.array(storedTable),
  after: z.array(z.string()),
});

export type SchemaDocument = z.output<typeof schemaDocument>;

/** Where the counters stood when everything else had been read. */
export const sequencesDocument = z.array(
  z.object({ table: z.string(), column: z.string(), last: z.string(), is_called: z.boolean() }),
);
