import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorsSection } from './error-codes.ts';
import { pocketBaseSection } from './pocketbase-section.ts';
import { routesSection } from './routes-section.ts';
import { replaceSection } from './section.ts';
import { settingsSection } from './settings-section.ts';
import { variablesSection } from './variables-section.ts';

/** A page in docs/ with a section that is generated from the code. */
interface Page {
  readonly file: string;
  readonly path: string;
  /** The current text. */
  readonly written: string;
  /** The generated text. */
  readonly current: string;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

const sections = [variablesSection, settingsSection, errorsSection(root), routesSection, pocketBaseSection];

/** The pages with a generated section. */
export const readPages = (): Page[] =>
  [...Map.groupBy(sections, ({ page }) => page)].map(([file, ofPage]) => {
    const path = join(root, 'docs', file);
    const written = readFileSync(path, 'utf8');
    return { file, path, written, current: ofPage.reduce(replaceSection, written) };
  });
