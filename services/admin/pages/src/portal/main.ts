import { mount } from 'svelte';
import '../style/tokens.css';
import '../style/base.css';
import '../style/details.css';
import '../style/controls.css';
import '../style/table.css';
import { connection } from '../api/connection.svelte.ts';
import Portal from './portal.svelte';

const target = document.getElementById('app');
if (!target) throw new Error('The page has no #app element.');
globalThis.fetch = connection.watched(globalThis.fetch.bind(globalThis));
mount(Portal, { target });
