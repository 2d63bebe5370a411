//! Reaches for files by every road that there is. There are none, and no folder in which there could be any.

use std::path::Path;
use std::{env, fs};

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let roads = [
            fs::read("/etc/passwd").is_ok(),
            fs::read("../../../../etc/passwd").is_ok(),
            fs::write("/tmp/wharf-zoo-file", "x").is_ok(),
            fs::write("wharf-zoo-file", "x").is_ok(),
            fs::read_dir("/").is_ok(),
            fs::read_dir(".").is_ok(),
            fs::create_dir_all("wharf-zoo/folder").is_ok(),
            fs::metadata("/proc/self/mem").is_ok(),
            env::current_dir().is_ok_and(|folder| folder != Path::new("/")),
        ];
        let open = roads.iter().filter(|open| **open).count();
        let folders = wasip2::filesystem::preopens::get_directories().len();
        Ok(format!("roads {open} folders {folders}"))
    }
}
