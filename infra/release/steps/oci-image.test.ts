import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readOciImage } from './oci-image.ts';

const x64 = 0x3e;
const arm64 = 0xb7;

test("an image's platforms are read with their attestations", (t) => {
  const image = makeImage(t, {
    amd64: { 'usr/bin/node': program(x64), 'app/main.ts': Buffer.from('run()') },
    arm64: { 'usr/bin/node': program(arm64), 'app/empty': Buffer.alloc(0) },
  });
  const attestations = ['https://spdx.dev/Document', 'https://slsa.dev/provenance/v0.2'];
  assert.deepEqual(readOciImage(image), [
    { platform: 'linux/amd64', attestations, programs: 1, foreign: [] },
    { platform: 'linux/arm64', attestations, programs: 1, foreign: [] },
  ]);
});

test('links are not followed, not even out of the image', (t) => {
  const outside = mkdtempSync(join(tmpdir(), 'recordbus-outside-'));
  t.after(() => rmSync(outside, { recursive: true }));
  writeFileSync(join(outside, 'program'), program(x64));
  const image = makeImage(t, { arm64: { 'usr/bin/node': program(arm64) } }, { run: outside });
  assert.deepEqual(
    readOciImage(image).map(({ programs, foreign }) => [programs, foreign]),
    [[1, []]],
  );
});

test('programs for another processor are found', (t) => {
  const image = makeImage(t, {
    arm64: { 'usr/bin/node': program(arm64), 'app/node_modules/argon2/argon2.node': program(x64) },
  });
  const [read] = readOciImage(image);
  assert.equal(read?.programs, 2);
  assert.deepEqual(read?.foreign, ['/app/node_modules/argon2/argon2.node']);
});

/** An ELF header. */
function program(machine: number): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.write('\x7fELF', 'latin1');
  bytes.writeUInt16LE(machine, 18);
  return bytes;
}

/** An image archive as buildx writes it: an index in an index, one layer each, and an attestation beside each image. */
function makeImage(
  t: TestContext,
  platforms: Record<string, Record<string, Buffer>>,
  links: Record<string, string> = {},
): string {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-oci-test-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const write = (path: string, content: Buffer | string) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  };
  const addBlob = (content: Buffer | object): { readonly digest: string } => {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
    const sum = createHash('sha256').update(bytes).digest('hex');
    write(`image/blobs/sha256/${sum}`, bytes);
    return { digest: `sha256:${sum}` };
  };
  const manifests = Object.entries(platforms).flatMap(([architecture, files]) => {
    for (const [path, content] of Object.entries(files)) write(`${architecture}/${path}`, content);
    for (const [path, target] of Object.entries(links)) symlinkSync(target, join(directory, architecture, path));
    execFileSync('tar', ['-czf', join(directory, 'layer'), '-C', join(directory, architecture), '.']);
    const layer = addBlob(readFileSync(join(directory, 'layer')));
    const image = addBlob({ layers: [layer] });
    const predicates = ['https://spdx.dev/Document', 'https://slsa.dev/provenance/v0.2'];
    const layers = predicates.map((type) => ({
      ...addBlob({ type, architecture }),
      annotations: { 'in-toto.io/predicate-type': type },
    }));
    return [
      { ...image, platform: { os: 'linux', architecture } },
      {
        ...addBlob({ layers }),
        platform: { os: 'unknown', architecture: 'unknown' },
        annotations: { 'vnd.docker.reference.digest': image.digest },
      },
    ];
  });
  write('image/index.json', JSON.stringify({ manifests: [addBlob({ manifests })] }));
  const archive = join(directory, 'image.tar');
  execFileSync('tar', ['-cf', archive, '-C', join(directory, 'image'), '.']);
  return archive;
}
