import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { startProduct } from '../harness/stacks/stack.ts';

/** A path or an address in a variable can be wrong in many ways. For each, a start ends with one sentence. */
suite('a start with an unusable path or address [operation §5.2]', { concurrency: 2 }, () => {
  const base = mkdtempSync(join(tmpdir(), 'recordbus-test-paths-'));
  const at = (name: string): string => join(base, name);
  after(() => rmSync(base, { recursive: true, force: true }));
  writeFileSync(at('file'), '');
  symlinkSync(at('nowhere/at all'), at('dangling'));
  mkdirSync(at('holds/jwt_secret'), { recursive: true });
  mkdirSync(at('uploads'));
  writeFileSync(at('uploads/uploads'), '');

  let made = 0;
  const newDirectory = (): string => at(`data-${++made}`);
  const servers = { SERVICE_DATABASE_URL: 'postgres://127.0.0.1:1/x', SERVICE_NATS_URL: 'nats://127.0.0.1:1' };
  const secret = { SERVICE_JWT_SECRET: 'a secret with more than 32 characters' };

  async function refusalOf(environment: Record<string, string>): Promise<string> {
    const product = startProduct('one', environment);
    const { code } = await product.exited;
    assert.equal(code, 78, product.lines.join('\n'));
    assert.equal(product.lines.length, 1, product.lines.join('\n'));
    return product.lines[0] ?? '';
  }

  const rows: [string, Record<string, string>, RegExp][] = [
    [
      'a data directory that is a file',
      { SERVICE_DATA_DIR: at('file') },
      /^SERVICE_DATA_DIR .*file: it is not a directory/,
    ],
    [
      'a data directory below a file',
      { SERVICE_DATA_DIR: at('file/x') },
      /^SERVICE_DATA_DIR .*lies below something that is not\.$/,
    ],
    [
      'a data directory below a dangling link',
      { SERVICE_DATA_DIR: at('dangling/x') },
      /^SERVICE_DATA_DIR .*lies below something that is not\.$/,
    ],
    [
      'a data directory on a read-only file system',
      { SERVICE_DATA_DIR: '/proc/recordbus' },
      /^SERVICE_DATA_DIR cannot be used/,
    ],
    [
      'a data directory whose secret file is a directory',
      { ...servers, SERVICE_DATA_DIR: at('holds') },
      /^The secret file .*jwt_secret cannot be used: .*EISDIR/,
    ],
    [
      'an extensions directory that is a file',
      { ...servers, ...secret, SERVICE_DATA_DIR: newDirectory(), SERVICE_EXTENSIONS_DIR: at('file') },
      /^SERVICE_EXTENSIONS_DIR is not an existing directory: .*file\.$/,
    ],
    [
      'a host that is not an address of this machine',
      { ...servers, ...secret, SERVICE_DATA_DIR: newDirectory(), SERVICE_HOST: '192.0.2.1', SERVICE_PORT: '9' },
      /^SERVICE_HOST 192\.0\.2\.1 is not an address of this machine\.$/,
    ],
  ];
  for (const [name, environment, sentence] of rows)
    test(name, async () => assert.match(await refusalOf(environment), sentence));

  test('a port used by another program', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    try {
      const address = other.address();
      const port = String(typeof address === 'object' && address?.port);
      const refusal = await refusalOf({ ...servers, SERVICE_DATA_DIR: newDirectory(), SERVICE_PORT: port });
      assert.equal(refusal, `SERVICE_PORT ${port} is taken by another program.`);
    } finally {
      other.close();
    }
  });
});
