/** Version of the dashboard, from its package.json. */
declare const __VERSION__: string;
