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
import { CommandFailure } from '../failure.ts';
import type { CommandParts } from '../run-command.ts';

/** The servers that a command works on. */
export interface Servers {
  readonly databaseUrl: string;
  /** Undefined where no bus runs that anybody listens to, and none was asked for. */
  readonly natsUrl: string | undefined;
}

interface Needs {
  /** Start a bus too when the command has to start the servers. */
  readonly bus?: boolean;
  /** Make a data directory that is not there. */
  readonly makesData?: boolean;
}

/** How long a stack that is just starting is waited for, in milliseconds. */
const startingPatienceMs = 60_000;

/**
 * Finds the database and the bus: those that the environment names, else those of the stack that runs on the data
 * directory, else the directory's own servers, started for this command and stopped after it. Throws a sentence when
 * there are none.
 */
export async function findServers(parts: CommandParts, needs: Needs = {}): Promise<Servers> {
  const { config } = parts;
  if (config.databaseUrl !== undefined) {
    const running = config.natsUrl === undefined ? await findRunning(config.dataDirectory) : undefined;
    // A stack with a database of its own here is another one.
    const isSame = running?.databaseUrl === undefined;
    return { databaseUrl: config.databaseUrl, natsUrl: config.natsUrl ?? (isSame ? running?.natsUrl : undefined) };
  }
  const running = await findRunning(config.dataDirectory);
  if (!running) return startServers(parts, needs);
  if (running.databaseUrl === undefined) throw new CommandFailure(elsewhere(config.dataDirectory));
  return { databaseUrl: running.databaseUrl, natsUrl: config.natsUrl ?? running.natsUrl };
}

/** What the stack that runs on the directory says of itself; undefined when none does. Waits for one that is starting. */
async function findRunning(dataDirectory: string): Promise<StackNote | undefined> {
  const found = await until(startingPatienceMs, async () => {
    const holder = await findHolder(dataDirectory);
    if (!holder || holder.command !== undefined) return nobody;
    return findStackNote(dataDirectory, holder.pid);
  });
  if (!found) throw new CommandFailure(`The stack on ${dataDirectory} does not get ready: look at what it prints.`);
  return found === nobody ? undefined : found;
}

const nobody: StackNote = { url: '', pid: 0 };

const elsewhere = (dataDirectory: string): string =>
  `The stack that runs on ${dataDirectory} has its database elsewhere: name it in SERVICE_DATABASE_URL here too.`;

async function startServers({ name, config, log, lifecycle, terminal }: CommandParts, needs: Needs): Promise<Servers> {
  const { dataDirectory } = config;
  if (!needs.makesData && !existsSync(join(dataDirectory, 'postgres')))
    throw new CommandFailure(
      `There is no data in ${dataDirectory}: name another directory in SERVICE_DATA_DIR or a database in SERVICE_DATABASE_URL, or run npm start once.`,
    );
  const lock = await lockDataDirectory(dataDirectory, name);
  lifecycle.onStop('data directory', () => lock.release());
  terminal.note('Starting the database of the data directory for this command…');
  const own = async (server: string, start: typeof startPostgres) => {
    const { url, stop } = await start({ directory: join(dataDirectory, server), log });
    lifecycle.onStop(server, stop);
    return url;
  };
  const databaseUrl = await own('postgres', startPostgres);
  return { databaseUrl, natsUrl: config.natsUrl ?? (needs.bus ? await own('nats', startNats) : undefined) };
}
