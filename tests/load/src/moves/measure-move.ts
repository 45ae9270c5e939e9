import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { cpuTimeOfTreesMs, untilIdle } from '../process-usage.ts';
import type { Product } from '../product/start-product.ts';
import { type DataSize, fillDataDirectory } from './fill-data-directory.ts';

/** How long a move from PocketBase takes. */
export interface MoveResults {
  readonly size: DataSize;
  readonly seconds: number;
  /** The processor time of the command, and of the product with PostgreSQL and nats-server; undefined without /proc. */
  readonly processorSec: number | undefined;
  /** A second run, without a change. */
  readonly secondRunSec: number;
  readonly failures: readonly string[];
}

interface Report {
  readonly seconds: number;
  readonly collections: readonly {
    readonly to: string;
    readonly created: number;
    readonly refused: number;
    readonly files: number;
    readonly sessions_kept: number;
  }[];
}

const command = fileURLToPath(new URL('../../../../infra/cli/src/main.ts', import.meta.url));

/** Moves records, accounts and files into the product by the command line. MOVE_RECORDS sets the size. */
export async function measureMove(product: Product): Promise<MoveResults> {
  const records = Number(process.env.MOVE_RECORDS ?? 100_000);
  const size = { records, accounts: records / 10, files: records / 100, fileBytes: 100_000 };
  const folder = mkdtempSync(join(tmpdir(), 'recordbus-bench-pocketbase-'));
  try {
    const directory = join(folder, 'pb_data');
    fillDataDirectory(directory, size);
    await untilIdle([product.pid]);
    // The command and the product are this process's children.
    const used = () => cpuTimeOfTreesMs([process.pid]);
    const before = used();
    const first = await run(directory, product);
    const after = used();
    const second = await run(directory, product);
    const [people, posts] = ['moved_people', 'moved_posts'].map((name) =>
      first.collections.find(({ to }) => to === name),
    );
    const isWhole =
      people?.created === size.accounts &&
      people.sessions_kept === size.accounts &&
      posts?.created === size.records &&
      posts.files === size.files;
    return {
      size,
      seconds: first.seconds,
      processorSec: before === undefined || after === undefined ? undefined : (after - before) / 1000,
      secondRunSec: second.seconds,
      failures: isWhole ? [] : [JSON.stringify([people, posts])],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs the command on the product's data directory, where it needs no key. */
async function run(directory: string, { dataDirectory, secret }: Product): Promise<Report> {
  const environment = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(SERVICE|OTEL)_/.test(name))),
    SERVICE_DATA_DIR: dataDirectory,
    SERVICE_JWT_SECRET: secret,
  };
  const child = spawn(process.execPath, [command, 'import', 'pocketbase', directory, '--json'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [report, [code]] = await Promise.all([json(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new Error(`import pocketbase ended with ${code}`);
  return report as Report;
}
