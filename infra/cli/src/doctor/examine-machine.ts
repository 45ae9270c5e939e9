import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import type { Config } from '@recordbus/process/config';
import { unlessMissing } from '@recordbus/process/system-error';
import { loadTokenSecret, secretFileOf } from '@recordbus/tokens';
import type { commandVariables } from '../deployment/variables.ts';
import { broken, type Finding, fine, skipped, warning } from './finding.ts';

type CommandConfig = Config<typeof commandVariables>;

const oldestNode = [24, 15] as const;
const gibibyte = 1024 ** 3;

/** Examines the Node that runs the commands, and the services unless they run elsewhere. */
export async function examineNode(): Promise<Finding[]> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOld = major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
  return [
    isOld
      ? broken('Node', process.version, `Use Node ${oldestNode.join('.')} or newer.`)
      : fine('Node', process.version),
  ];
}

/** Examines the data directory's free space and permissions. Less space than `minFreeGib` is always broken. */
export async function examineDisk({ dataDirectory }: CommandConfig, minFreeGib = 0): Promise<Finding[]> {
  const found = await unlessMissing(stat(dataDirectory));
  if (!found) return [skipped('data directory', `there is none at ${dataDirectory}`)];
  if (!found.isDirectory())
    return [broken('data directory', `${dataDirectory} is a file`, 'Name a directory in SERVICE_DATA_DIR.')];
  const { bavail, bsize, blocks } = await statfs(dataDirectory);
  const room = { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  const findings = [judgeRoom(room, minFreeGib, dataDirectory)];
  const mayWrite = await access(dataDirectory, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!mayWrite)
    findings.push(
      broken(
        'data directory',
        `${dataDirectory} cannot be read and written`,
        'Change its owner to the user that runs the services.',
      ),
    );
  return findings;
}

interface Room {
  readonly freeBytes: number;
  /** 0 when the file system does not report it. */
  readonly totalBytes: number;
}

/** Returns the finding about the free space at a place. */
export function judgeRoom({ freeBytes, totalBytes }: Room, minFreeGib: number, place: string): Finding {
  if (totalBytes === 0) return skipped('disk', `the file system at ${place} does not report its free space`);
  const share = freeBytes / totalBytes;
  const says = `${(freeBytes / gibibyte).toFixed(1)} GiB (${Math.floor(share * 100)} %) free at ${place}`;
  const advice = 'Free some space: the database, the bus and uploads stop when the disk is full.';
  if (share < 0.01 || freeBytes < minFreeGib * gibibyte) return broken('disk', says, advice);
  return share < 0.1 && freeBytes < 20 * gibibyte ? warning('disk', says, advice) : fine('disk', says);
}

/** Examines the secret that signs tokens. */
export async function examineTokenSecret({ jwtSecret, dataDirectory }: CommandConfig): Promise<Finding[]> {
  if (jwtSecret !== undefined) return [fine('token secret', 'from SERVICE_JWT_SECRET')];
  const file = secretFileOf(dataDirectory);
  const found = await unlessMissing(stat(file));
  if (!found)
    return [skipped('token secret', `neither SERVICE_JWT_SECRET nor ${file} exists; the first start creates the file`)];
  // Throws for a file that the services would refuse.
  loadTokenSecret({ dataDirectory });
  const mode = found.mode & 0o777;
  if ((mode & 0o077) !== 0)
    return [
      warning(
        'token secret',
        `${file} has mode ${mode.toString(8)}: others can read it`,
        `chmod 600 ${file}, then recordbus secret rotate.`,
      ),
    ];
  return [fine('token secret', `from ${file}`)];
}
