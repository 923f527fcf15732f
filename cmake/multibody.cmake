# The model multibody works on Simbody, which stands in a module beside the program, where Simbody is installed (docs/decisions/0090). Its
# headers need C++17.
find_path(MDPCOSIM_SIMBODY_HEADERS Simbody.h PATH_SUFFIXES simbody)
find_library(MDPCOSIM_SIMBODY SimTKsimbody)
find_library(MDPCOSIM_SIMMATH SimTKmath)
find_library(MDPCOSIM_SIMCOMMON SimTKcommon)
mark_as_advanced(MDPCOSIM_SIMBODY_HEADERS MDPCOSIM_SIMBODY MDPCOSIM_SIMMATH MDPCOSIM_SIMCOMMON)
if(MDPCOSIM_SANITIZE OR NOT MDPCOSIM_SIMBODY_HEADERS OR NOT MDPCOSIM_SIMBODY OR NOT MDPCOSIM_SIMMATH OR NOT MDPCOSIM_SIMCOMMON)
  message(STATUS "No module for multibody systems: Simbody is not installed, or this build is sanitized")
  return()
endif()
add_library(multibody_module MODULE models/multibody/simbody/module.cpp)
target_include_directories(multibody_module PRIVATE models/multibody)
target_include_directories(multibody_module SYSTEM PRIVATE ${MDPCOSIM_SIMBODY_HEADERS})
target_compile_options(multibody_module PRIVATE -ffp-contract=off -Wall -Wextra -Wno-array-bounds)  # Simbody looks at parts of its matrices
target_link_libraries(multibody_module PRIVATE ${MDPCOSIM_SIMBODY} ${MDPCOSIM_SIMMATH} ${MDPCOSIM_SIMCOMMON})
set_target_properties(multibody_module PROPERTIES CXX_STANDARD 17 PREFIX "" OUTPUT_NAME mdpcosim-multibody
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
mdpcosim_keep_search_path(multibody_module)
add_dependencies(mdpcosim multibody_module)
if(MDPCOSIM_INSTALL)
  install(TARGETS multibody_module LIBRARY DESTINATION lib/mdpcosim)
endif()
