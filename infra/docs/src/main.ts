import { writeFileSync } from 'node:fs';
import { readPages } from './pages.ts';

for (const { file, path, written, current } of readPages()) {
  if (written !== current) writeFileSync(path, current);
  process.stdout.write(`docs/${file} ${written === current ? 'is current' : 'written'}\n`);
}
