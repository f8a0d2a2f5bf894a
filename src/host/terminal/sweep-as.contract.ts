/** Sweeps below a shell as whoever runs this, and prints who survived: `node sweep-as.contract.ts <pid>`. */
import { Sweep } from "./sweep.ts";

const sweep = new Sweep({ shell: Number(process.argv[2]), chooses: () => true, complete: true });
sweep.strike(100);
console.log(JSON.stringify(sweep.living));
