import './reference.css';
import { client } from '../api/client.ts';
import { readDocument } from './read-document.ts';
import { showReference } from './show-reference.ts';

const status = document.querySelector('header p');
const form = document.querySelector('form');
const field = document.querySelector('input');

/** Shows the document for the token's holder. The token stays in memory. */
async function show(token: string | undefined): Promise<void> {
  const { text, ...read } = await readDocument(token);
  if (status) status.textContent = text;
  if (read.document) showReference(read.document, read.token);
}

form?.addEventListener('submit', (event) => {
  event.preventDefault();
  const token = field?.value.trim();
  if (field) field.value = '';
  void show(token || undefined);
});

/** In a tab with the admin pages, uses the admin's session. */
const session = await client.session.current();
await show(session && (await client.session.token().catch(() => undefined)));
