import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  findHolder,
  findStackNote,
  lockDataDirectory,
  type StackNote,
  startNats,
  startPostgres,
  until,
} from '@recordbus/embedded';
import { CommandFailure } from '@recordbus/stack-calls';
import type { CommandParts } from '../run-command.ts';

/** The servers that a command uses. */
export interface Servers {
  readonly databaseUrl: string;
  /** Undefined when no bus runs and the command does not need one. */
  readonly natsUrl: string | undefined;
}

interface Needs {
  /** Whether to start a bus too when the command has to start the servers. */
  readonly bus?: boolean;
  /** Whether to create a missing data directory. */
  readonly createsData?: boolean;
}

/** How long to wait for a stack that is starting, in milliseconds. */
const startTimeoutMs = 60_000;

/**
 * Finds the database and the bus: those that the environment names, else the servers that a running stack uses on the
 * data directory, else the directory's own servers, started for this command and stopped after it (operation §8).
 * Throws CommandFailure when there are none.
 */
export async function findServers(parts: CommandParts, needs: Needs = {}): Promise<Servers> {
  const { config } = parts;
  if (config.databaseUrl !== undefined) {
    const running = config.natsUrl === undefined ? await findRunning(config.dataDirectory) : undefined;
    // A stack that runs its own database here is another deployment.
    const isSame = running?.databaseUrl === undefined;
    return { databaseUrl: config.databaseUrl, natsUrl: config.natsUrl ?? (isSame ? running?.natsUrl : undefined) };
  }
  const running = await findRunning(config.dataDirectory);
  if (!running) return startServers(parts, needs);
  if (running.databaseUrl === undefined) throw new CommandFailure(otherDatabaseMessage(config.dataDirectory));
  return { databaseUrl: running.databaseUrl, natsUrl: config.natsUrl ?? running.natsUrl };
}

/** Returns the note about the stack that runs on the directory, or undefined. Waits for a stack that is starting. */
export async function findRunning(dataDirectory: string): Promise<StackNote | undefined> {
  const found = await until(startTimeoutMs, async () => {
    const holder = await findHolder(dataDirectory);
    if (!holder || holder.command !== undefined) return noStack;
    return findStackNote(dataDirectory, holder.pid);
  });
  if (!found) throw new CommandFailure(`The stack on ${dataDirectory} does not become ready: see its output.`);
  return found === noStack ? undefined : found;
}

const noStack: StackNote = { url: '', pid: 0 };

const otherDatabaseMessage = (dataDirectory: string): string =>
  `The stack that runs on ${dataDirectory} uses another database: name it in SERVICE_DATABASE_URL here too.`;

async function startServers({ name, config, log, lifecycle, terminal }: CommandParts, needs: Needs): Promise<Servers> {
  const { dataDirectory } = config;
  if (!needs.createsData && !existsSync(join(dataDirectory, 'postgres')))
    throw new CommandFailure(
      `There is no data in ${dataDirectory}: name another directory in SERVICE_DATA_DIR or a database in SERVICE_DATABASE_URL, or run npm start once.`,
    );
  const lock = await lockDataDirectory(dataDirectory, { command: name });
  lifecycle.onStop('data directory', () => lock.release());
  terminal.note("Starting the data directory's database for this command…");
  const startServer = async (server: string, start: typeof startPostgres) => {
    const { url, stop } = await start({ directory: join(dataDirectory, server), log });
    lifecycle.onStop(server, stop);
    return url;
  };
  const databaseUrl = await startServer('postgres', startPostgres);
  return { databaseUrl, natsUrl: config.natsUrl ?? (needs.bus ? await startServer('nats', startNats) : undefined) };
}
