import { rmSync } from 'node:fs';
import { after } from 'node:test';
import { onEachTopology, stackEnvironment } from '../harness/stacks/target.ts';
import { copyExtensions } from './extensions/extensions-directory.ts';
import { inboundMails } from './inbound-mails/inbound-mails.ts';

/** A stack of its own: its extension takes mails. */
const directory = copyExtensions('mailing');
stackEnvironment.SERVICE_EXTENSIONS_DIR = directory;
after(() => rmSync(directory, { recursive: true }));

onEachTopology('mails that come in', inboundMails);
