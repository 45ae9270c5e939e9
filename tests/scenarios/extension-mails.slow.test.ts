import { rmSync } from 'node:fs';
import { after } from 'node:test';
import { onEachTopology, stackEnvironment } from '../harness/stacks/target.ts';
import { copyExtensions } from './extensions/extensions-directory.ts';
import { mails } from './extensions/mails.ts';

/** A stack of its own: these tests configure the mail server. */
const directory = copyExtensions('mailing');
stackEnvironment.SERVICE_EXTENSIONS_DIR = directory;
after(() => rmSync(directory, { recursive: true }));

onEachTopology('mails of extensions', mails);
