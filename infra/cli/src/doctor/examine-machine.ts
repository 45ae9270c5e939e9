import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import type { Config } from '@recordbus/shared/config';
import { loadTokenSecret, secretFileOf } from '@recordbus/tokens';
import type { commandVariables } from '../deployment/variables.ts';
import { broken, type Finding, fine, skipped, warning } from './finding.ts';

type CommandConfig = Config<typeof commandVariables>;

const oldestNode = [24, 15] as const;
const gibibyte = 1024 ** 3;

/** The Node that the commands run on, which is that of the services unless they run elsewhere. */
export async function examineNode(): Promise<Finding[]> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOld = major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
  return [
    isOld
      ? broken('Node', process.version, `Use Node ${oldestNode.join('.')} or newer.`)
      : fine('Node', process.version),
  ];
}

/** Undefined for what is not there. Throws the system's sentence for what can't be looked at. */
async function findPlace(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Room and rights in the data directory. */
export async function examineDisk({ dataDirectory }: CommandConfig): Promise<Finding[]> {
  const found = await findPlace(dataDirectory);
  if (!found) return [skipped('data directory', `there is none at ${dataDirectory}`)];
  if (!found.isDirectory())
    return [broken('data directory', `${dataDirectory} is a file`, 'Name a directory in SERVICE_DATA_DIR.')];
  const { bavail, bsize, blocks } = await statfs(dataDirectory);
  const free = bavail / blocks;
  const says = `${((bavail * bsize) / gibibyte).toFixed(1)} GiB (${Math.floor(free * 100)} %) free at ${dataDirectory}`;
  const advice = 'Make room: the database, the bus and uploads stop at a full disk.';
  const findings = [];
  if (free < 0.01) findings.push(broken('disk', says, advice));
  else if (free < 0.1 && bavail * bsize < 20 * gibibyte) findings.push(warning('disk', says, advice));
  else findings.push(fine('disk', says));
  const mayWrite = await access(dataDirectory, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!mayWrite)
    findings.push(
      broken(
        'data directory',
        `${dataDirectory} can't be read and written in`,
        'Give it to the user that the services run as.',
      ),
    );
  return findings;
}

/** The secret that signs tokens. */
export async function examineTokenSecret({ jwtSecret, dataDirectory }: CommandConfig): Promise<Finding[]> {
  if (jwtSecret !== undefined) return [fine('token secret', 'from SERVICE_JWT_SECRET')];
  const file = secretFileOf(dataDirectory);
  const found = await findPlace(file);
  if (!found)
    return [skipped('token secret', `neither SERVICE_JWT_SECRET nor ${file}; the first start makes the file`)];
  // Throws a sentence for a file that the services would refuse.
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
