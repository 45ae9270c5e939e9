import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { packageNames, packPackage } from './pack-package.ts';

const [directory = 'dist'] = process.argv.slice(2);
const target = resolve(directory);
mkdirSync(target, { recursive: true });
for (const name of packageNames) process.stdout.write(`${packPackage(name, target)}\n`);
