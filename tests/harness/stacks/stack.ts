import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, createClient } from '../clients/client.ts';
import { eventually, Hopeless } from '../eventually.ts';
import { textAt } from '../json.ts';
import { type Child, endChild, startChild } from '../processes/child.ts';
import type { Server } from '../servers/server.ts';
import { createDatabase, type Database, startNats } from '../servers/servers.ts';
import { followedEverywhere } from './followed-settings.ts';
import { programPath } from './program.ts';

/** All services in one process, or a process for each. */
export type Topology = 'one' | 'processes';

/** A stack's topologies, including several processes for each service, behind a balancer. */
export type StackTopology = Topology | 'replicas';

export type ServiceName = 'gateway' | 'auth' | 'records' | 'admin' | 'webhooks' | 'realtime';

interface RunningService {
  readonly pid: number;
  readonly url: string;
}

/** The running product, in the state after its first start. */
export interface Stack extends AsyncDisposable {
  readonly url: string;
  /** The first admin's set-up token, if this start printed one (admins §1.1). */
  readonly setupToken: string | undefined;
  /** The services in topology `processes`, the first replicas in `replicas`; empty in topology `one`. */
  readonly services: Readonly<Partial<Record<ServiceName, RunningService>>>;
  readonly natsUrl: string;
  readonly ground: Ground;
  readonly process: Child;
  readonly guest: Client;
  /** Returns a client for the first admin, who is set up or signed in at the first call. */
  admin(): Promise<Client>;
  /** Returns a client for a user who has signed up. */
  user(): Promise<UserClient>;
  /** Stops it and removes its resources. */
  stop(): Promise<void>;
}

interface UserClient extends Client {
  readonly id: string;
}

interface StackOptions {
  readonly topology: StackTopology;
  /** The ground, which outlives the stack. By default it is created for the stack and removed with it. */
  readonly ground?: Ground;
  /** Starts a replica on this stack's ground: the same database, bus and secret, with its own data directory. */
  readonly beside?: Ground;
  readonly environment?: Readonly<Record<string, string>>;
}

/** What a stack needs: the database, the bus, the data directory and the secret. Stacks on one ground are replicas. */
export interface Ground extends AsyncDisposable {
  readonly databaseUrl: string;
  /** The database's address for commands, which need their own session. */
  readonly commandsUrl: string;
  readonly bus: Server;
  readonly dataDirectory: string;
  readonly secret: string;
  remove(): Promise<void>;
}

export const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** The auth collection for a target's `user()`. */
export const userCollection = 'members';

/** The environment for the stacks that scenario tables run on. */
export const usualEnvironment = { SERVICE_ENCRYPTION_KEY: 'a'.repeat(64) };

export const firstAdmin = { email: 'ada@example.com', password: 'correct horse battery staple' };

/** A directory without admin pages. */
const noPages = join(tmpdir(), 'recordbus-no-pages');

/** Replicas are more processes than cores, one service after the other. */
const startTimeoutMs: Readonly<Record<StackTopology, number>> = { one: 120_000, processes: 120_000, replicas: 300_000 };

/** Creates an empty ground: a database and a nats-server unless given, an empty directory, a random secret. */
export async function createGround(given?: Database, givenBus?: Server): Promise<Ground> {
  const bus = givenBus ?? (await startNats());
  const database = given ?? (await createDatabase());
  const dataDirectory = createDataDirectory();
  const remove = async (): Promise<void> => {
    await Promise.all([database.drop(), bus.remove()]);
    rmSync(dataDirectory, { recursive: true, force: true });
  };
  return {
    databaseUrl: database.url,
    commandsUrl: database.directUrl ?? database.url,
    bus,
    dataDirectory,
    secret: randomBytes(32).toString('hex'),
    remove,
    [Symbol.asyncDispose]: remove,
  };
}

/** Copies a stack's encryption key for a replica, as an operator does. */
export function shareKeyFile(from: string, to: string): void {
  const file = join(from, 'encryption_key');
  if (existsSync(file)) copyFileSync(file, join(to, 'encryption_key'));
}

function replicaGround(ground: Ground): Ground {
  const dataDirectory = createDataDirectory();
  shareKeyFile(ground.dataDirectory, dataDirectory);
  const remove = async (): Promise<void> => rmSync(dataDirectory, { recursive: true, force: true });
  return { ...ground, dataDirectory, remove, [Symbol.asyncDispose]: remove };
}

/** Creates an empty data directory for a stack with embedded servers. */
export const createDataDirectory = (): string => mkdtempSync(join(tmpdir(), 'recordbus-test-data-'));

/** Starts the product. Throws with its output when it does not become ready in time. */
export async function startStack({ topology, ground: given, beside, environment }: StackOptions): Promise<Stack> {
  const ground = given ?? (beside ? replicaGround(beside) : await createGround());
  const settings = { ...environmentOf(ground), ...environment };
  const child = startProduct(topology, settings);
  const stop = async (): Promise<void> => {
    await endChild(child);
    if (!given) await ground.remove();
  };
  try {
    const ready = await readiness(child, startTimeoutMs[topology]);
    return {
      ...ready,
      get services() {
        return lastReadiness(child)?.services ?? {};
      },
      natsUrl: ground.bus.url,
      ground,
      process: child,
      ...callers(ready.url, ready.setupToken, topology),
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await endChild(child, 'SIGKILL');
    if (!given) await ground.remove();
    throw error;
  }
}

/** Returns the variables that name the ground (operation §5.1). */
export const environmentOf = (ground: Ground): Record<string, string> => ({
  SERVICE_DATABASE_URL: ground.databaseUrl,
  SERVICE_NATS_URL: ground.bus.url,
  SERVICE_DATA_DIR: ground.dataDirectory,
  SERVICE_JWT_SECRET: ground.secret,
});

/** Returns these variables for a command. */
export const commandEnvironmentOf = (ground: Ground): Record<string, string> => ({
  ...environmentOf(ground),
  SERVICE_DATABASE_URL: ground.commandsUrl,
});

/** Returns the file that starts a topology, and its flags. */
function entryOf(topology: StackTopology, bundle?: string): readonly string[] {
  if (topology === 'replicas') return [join(import.meta.dirname, 'replicas/main.ts')];
  return [programPath('infra/local/src/main', bundle), ...(topology === 'processes' ? ['--processes'] : [])];
}

/**
 * Starts the product like `npm start`, with the given variables and none from the test run. `entry` names another
 * version's file.
 */
export function startProduct(
  topology: StackTopology,
  environment: Readonly<Record<string, string>>,
  entry: readonly string[] = entryOf(topology, environment.TEST_PRODUCT),
): Child {
  return startChild(process.execPath, entry, {
    ipc: true,
    env: {
      ...withoutOwnVariables(process.env),
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: '0',
      // Tests send no update checks to the real release host.
      SERVICE_RELEASE_URL: 'http://127.0.0.1:1',
      // Builds no admin pages during the tests.
      SERVICE_PAGES_DIR: noPages,
      ...environment,
    },
  });
}

interface Readiness {
  readonly ready: true;
  readonly url: string;
  readonly setupToken: string | undefined;
  readonly services: Readonly<Partial<Record<ServiceName, RunningService>>>;
}

/** Waits until the product reports that it answers requests. */
export const readiness = (child: Child, timeoutMs = startTimeoutMs.one): Promise<Readiness> =>
  eventually(
    'the product is ready',
    () => {
      if (!child.isRunning) throw new Hopeless(child.lines.slice(-20).join('\n'));
      return lastReadiness(child);
    },
    { timeoutMs },
  );

/** Returns the product's last report about its parts, which it repeats when a part restarts. */
const lastReadiness = (child: Child): Readiness | undefined => child.messages.findLast(isReadiness);

const isReadiness = (message: unknown): message is Readiness =>
  typeof message === 'object' && message !== null && 'ready' in message && 'url' in message;

/** Removes test run variables that must not reach the stack under test. */
export const withoutOwnVariables = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !/^(SERVICE|OTEL|NODE_TEST)_/.test(name)));

/** Returns a stack's clients by caller. */
export function callers(
  url: string,
  setupToken: string | undefined,
  topology: StackTopology = 'one',
): Pick<Stack, 'guest' | 'admin' | 'user'> {
  const guest = createClient(url);
  let admin: Promise<Client> | undefined;
  let user: Promise<UserClient> | undefined;
  const asAdmin = (): Promise<Client> => {
    admin ??= signIn(url, setupToken).then((client) => (topology === 'one' ? client : followedEverywhere(client)));
    return admin;
  };
  return {
    guest,
    admin: asAdmin,
    user() {
      user ??= asAdmin().then((client) => signUp(url, client));
      return user;
    },
  };
}

/** Signs up a new user, in a collection that is created when it is missing. */
async function signUp(url: string, admin: Client): Promise<UserClient> {
  await admin.send('POST', '/api/v1/collections', { body: { name: userCollection, type: 'auth' } });
  const credentials = { email: `uma.${randomBytes(6).toString('hex')}@example.com`, password: firstAdmin.password };
  const session = await createClient(url).post(`/api/v1/auth/${userCollection}/register`, credentials);
  return { ...createClient(url, textAt(session, 'token')), id: textAt(session, 'record.id') };
}

async function signIn(url: string, setupToken: string | undefined): Promise<Client> {
  const guest = createClient(url);
  const setup = setupToken && { token: setupToken, ...firstAdmin };
  const answer = setup ? await guest.send('POST', '/api/v1/admin/setup', { body: setup }) : undefined;
  const token =
    answer?.status === 201
      ? textAt(answer.json, 'data.token')
      : textAt(await guest.post('/api/v1/admin/login', firstAdmin, 200), 'token');
  const admin = createClient(url, token);
  // Tables send more requests than the rate limits allow. Tests for the limits enable them.
  await admin.patch('/api/v1/admin/settings', { 'rate_limit.enabled': '0' });
  await eventually('this gateway no longer counts', async () => {
    const { headers } = await guest.send('GET', '/api/v1/health');
    return headers['ratelimit-limit'] === undefined;
  });
  return admin;
}
