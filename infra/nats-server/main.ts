import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { packServer, platforms } from './pack-server.ts';

const [directory = 'dist', ...wanted] = process.argv.slice(2);
const unknown = wanted.filter((platform) => !platforms.includes(platform));
if (unknown.length > 0) throw new Error(`${unknown.join(', ')} is not among ${platforms.join(', ')}`);

const target = resolve(directory);
mkdirSync(target, { recursive: true });
const tarballs = (wanted.length > 0 ? wanted : platforms).map((platform) => packServer(platform, target));
const sums = tarballs.map(
  (tarball) => `${createHash('sha256').update(readFileSync(tarball)).digest('hex')}  ${basename(tarball)}\n`,
);
writeFileSync(join(target, 'nats-server-SHA256SUMS'), sums.join(''));
process.stdout.write(sums.join(''));
