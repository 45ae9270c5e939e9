import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { packCli } from './pack-cli.ts';
import { packageNames, packPackage } from './pack-package.ts';

/** The command line's package has the product's name. */
const cli = 'recordbus';
const known = [...packageNames, cli] as const;

const [directory = 'dist', ...wanted] = process.argv.slice(2);
const unknown = wanted.filter((name) => !known.some((one) => one === name));
if (unknown.length > 0) throw new Error(`${unknown.join(', ')} is not among ${known.join(', ')}`);

const target = resolve(directory);
mkdirSync(target, { recursive: true });
for (const name of known.filter((name) => wanted.length === 0 || wanted.includes(name)))
  process.stdout.write(`${name === cli ? packCli(target) : packPackage(name, target)}\n`);
