import { mount } from 'svelte';
import './style/tokens.css';
import './style/base.css';
import './style/details.css';
import './style/controls.css';
import './style/table.css';
import { account } from './api/account.svelte.ts';
import { prepareRequests } from './api/requests.ts';
import App from './app.svelte';
import { router } from './router/router.svelte.ts';
import { theme } from './theme/theme.svelte.ts';

const target = document.getElementById('app');
if (!target) throw new Error('The page has no #app element.');
prepareRequests();
void theme.start();
router.start();
void account.start();
mount(App, { target });
