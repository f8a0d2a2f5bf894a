/** Sweeps below a shell as whoever runs this, and prints who survived: `node sweep-as.contract.ts <pid>`. */
import { Sweep } from "./sweep.ts";

const sweep = new Sweep({ shell: Number(process.argv[2]), chooses: () => true, complete: true });
// A busy machine may take longer than one turn for one look.
for (let turns = 0; turns < 100 && !sweep.strike(100); turns += 1);
console.log(JSON.stringify(sweep.living));
