import { delimiter, dirname, join } from 'node:path';
import { findNatsBinary } from '@recordbus/embedded';
import { createLogger } from '@recordbus/process/logging';

/** Names the nats-server for every file, so one that npm lacks is built once. Stacks find it on PATH. */
export async function nameNatsServer(): Promise<void> {
  const cacheDirectory = join(import.meta.dirname, '../../node_modules/.cache');
  const binary = await findNatsBinary({ cacheDirectory, log: createLogger('test', 'info') });
  process.env.TEST_NATS_SERVER = binary;
  process.env.PATH = `${dirname(binary)}${delimiter}${process.env.PATH}`;
}
