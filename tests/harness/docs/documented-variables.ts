import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../stacks/stack.ts';

const pages = ['docs/configuration.md', 'docs/cli.md'].map((page) => readFileSync(join(repository, page), 'utf8'));

/** The variables that the pages describe: the services' and the command line's. */
export const documentedVariables: ReadonlySet<string> = new Set(pages.join('').match(/\bSERVICE_[A-Z_]+\b/g));
