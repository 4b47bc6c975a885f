import { helper } from 'helper';

export default { name: 'packaged', manifest: { capabilities: ['tools'] }, setup: helper };
